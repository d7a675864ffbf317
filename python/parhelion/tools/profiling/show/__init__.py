"""`parhelion profile show`: flame graphs and the HTML page."""
