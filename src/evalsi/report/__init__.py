"""The job Report: a graded run in, a page or a comment for people out.

`html_report.write_html` writes one self-contained file, `markdown_report.write_markdown` a short text for a pull
request. Both read the run once, as a stream (`findings.gather`), and show the same facts.
"""
