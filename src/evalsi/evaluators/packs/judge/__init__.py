"""Pack `judge`: a language model grades, by a rubric, a reference, a pair of answers, or a prompt of your own."""
