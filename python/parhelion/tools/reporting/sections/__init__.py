"""What a report says about a run, section by section, as values that the templates print. Drawings are in `plots`."""
