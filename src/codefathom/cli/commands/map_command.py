"""`fathom map`: an outline of a project within a number of tokens."""

from __future__ import annotations

from codefathom.cli.display.render import map_note
from codefathom.cli.face import Face
from codefathom.cli.filter_arguments import inside_project
from codefathom.cli.options import MapOptions
from codefathom.search.graph.project_map import map_text
from codefathom.shapes import plain_shape, to_json

_SUCCESS, _NO_RESULT = 0, 1


def run(options: MapOptions, face: Face) -> int:
    """Print the most central files, each with the definitions that others use."""
    if options.project or options.all or options.paths:
        from codefathom.cli.commands.several_commands import map_of_several

        return map_of_several(options, face)
    with face.open() as engine:
        outline = engine.map(
            options.query,
            files=[inside_project(path, engine.folder) for path in options.file],
            folders=[inside_project(folder, engine.folder) for folder in options.dir],
            max_tokens=options.max_tokens,
        )
    face.note_indexing()
    face.write(to_json(plain_shape(outline)) if face.common.json else map_text(outline.files))
    face.note(map_note(outline))
    return _SUCCESS if outline.files else _NO_RESULT
