"""What the command line shows, and how."""
