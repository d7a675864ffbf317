"""What a report draws, one kind of drawing per file, as SVG inside the page. What is said in words is in `sections`."""
