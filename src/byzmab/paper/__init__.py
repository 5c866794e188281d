"""The paper's evaluation: its figures as files, its claims as tests, and the report on both."""
