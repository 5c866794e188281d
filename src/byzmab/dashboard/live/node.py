"""The page of a node: served beside its routes, and fed by its stream."""

from litestar import get
from litestar.response import File

from byzmab.dashboard.pages import Pages, page


@get("/")
async def node_page() -> File:
    """The node's page; what it shows, it asks for at /v1/stream."""
    return page("node.html")


def node_pages() -> Pages:
    """The plug-in that adds its page to a node."""
    return Pages([node_page])
