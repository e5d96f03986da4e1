"""`fathom map`: an outline of a project within a number of tokens."""

from __future__ import annotations

from codefathom.cli.commands.token_budget import map_within
from codefathom.cli.display.render import map_note
from codefathom.cli.face import Face
from codefathom.cli.filter_arguments import inside_project
from codefathom.cli.options import MapOptions
from codefathom.search.graph.project_map import ProjectMap, map_text
from codefathom.shapes import map_shape, to_json

_SUCCESS, _NO_RESULT = 0, 1


def run(options: MapOptions, face: Face) -> int:
    """Print the most central files, each with the definitions that others use."""
    if options.project or options.all or options.paths:
        from codefathom.cli.commands.several_commands import map_of_several

        return map_of_several(options, face)
    with face.open() as engine:
        files = [inside_project(path, engine.folder) for path in options.file]
        folders = [inside_project(folder, engine.folder) for folder in options.dir]

        def draw(budget: int) -> tuple[ProjectMap, str]:
            outline = engine.map(options.query, files=files, folders=folders, max_tokens=budget)
            return outline, to_json(map_shape(outline)) if face.common.json else map_text(outline.files)

        outline, text = map_within(draw, options.max_tokens)
    face.note_indexing()
    face.write(text)
    face.note(map_note(outline))
    return _SUCCESS if outline.files else _NO_RESULT
