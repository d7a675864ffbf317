"""What is behind `parhelion place` and `model`: requests, graphs, rank files, the cost model, simulation."""
