"""The paper's open questions as small studies: tables of what varied settings of POWR do.

envs.yaml says what each study varies; docs/studies.md shows the figures and what they say.
"""
