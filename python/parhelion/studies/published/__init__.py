"""Figures that others published, one CSV file per table; README.md says where they come from. Data only."""
