"""For authors of evaluators and adapters, and for our own tests: fakes of every port and the suites a real one passes."""
