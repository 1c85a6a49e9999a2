"""Pictures: the browser's page, films, arrows of forces.

Only this room imports viser.
"""
