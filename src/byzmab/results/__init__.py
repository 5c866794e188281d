"""Results: what runs recorded, its statistics, figures and pages, and the files they are kept in."""
