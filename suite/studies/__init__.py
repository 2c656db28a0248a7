"""What POWR's choices matter, in small studies: tables of what varied settings do.

envs.yaml says what each study varies; docs/studies.md shows the figures and what they say.
"""
