import click


@click.command()
def play() -> None:
    pass
