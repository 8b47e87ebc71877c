"""The main job, shown: a real server process, many clients, a kill in mid-play, and a stranger's verdict."""
