"""After the learning: champions that are promoted and served, decisions on new work, their review, and the trail."""
