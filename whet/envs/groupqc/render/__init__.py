"""Drawings of generated sites: shapes, marks, plates, and the photo that a camera makes of them."""
