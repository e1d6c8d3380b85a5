"""What a build is told: workflow commands, the action and the recipes, run without the build system."""
