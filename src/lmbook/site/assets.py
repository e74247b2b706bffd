"""After the build: the theme's files made light."""


def setup(app):
    pass
