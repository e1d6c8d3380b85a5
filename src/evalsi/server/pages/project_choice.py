"""The projects that a person may look at, for the choice on lists.

Its own module because several pages offer it and a server without access has none.
"""

from evalsi.schema import ListProjectsRequest, ListProjectsResponse
from evalsi.server.pages.visit import Visit


async def visible_names(visit: Visit) -> list[str]:
    """Names of the projects the caller may see; empty where the server keeps no list of them."""
    if not visit.serves("AuthService"):
        return []
    found = await visit.call("AuthService.ListProjects", ListProjectsRequest(), ListProjectsResponse)
    return [project.name for project in found.projects]
