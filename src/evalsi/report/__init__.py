"""Reports of graded runs and comparisons: one HTML file without a network, and Markdown."""
