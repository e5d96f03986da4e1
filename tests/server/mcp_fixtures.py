"""The tools, resources and prompts that the official conformance suite asks for, as a server of the SDK."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import mcp_types as types
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.shared.exceptions import MCPError
from mcp_types import InputRequiredResult

# The smallest picture and the shortest sound that there are.
PIXEL = base64.b64encode(
    base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==")
).decode()
SOUND = base64.b64encode(
    b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00"
    b"data\x00\x00\x00\x00"
).decode()
Many = list[types.TextContent | types.ImageContent | types.AudioContent | types.EmbeddedResource]


def text(content: str) -> types.TextContent:
    return types.TextContent(type="text", text=content)


def picture() -> types.ImageContent:
    return types.ImageContent(type="image", data=PIXEL, mime_type="image/png")


def embedded(uri: str, kind: str, content: str) -> types.EmbeddedResource:
    resource = types.TextResourceContents(uri=uri, mime_type=kind, text=content)
    return types.EmbeddedResource(type="resource", resource=resource)


def question(message: str, name: str, kind: str = "string") -> types.ElicitRequest:
    schema = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(message: str, most: int) -> types.CreateMessageRequest:
    messages = [types.SamplingMessage(role="user", content=text(message))]
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=messages, max_tokens=most))


def answer_to(context: Context, name: str) -> Any:
    """The client's answer to a question; None where it has not answered it."""
    return (context.input_responses or {}).get(name)


def content_of(answer: Any, name: str) -> str:
    return str((answer.content or {}).get(name, ""))


def server() -> Any:
    """The server as the session manager of the SDK takes it."""
    made = MCPServer("conformance fixtures", version="1.0")
    add_contents(made)
    add_streams(made)
    add_questions(made)
    add_states(made)
    add_resources(made)
    add_prompts(made)
    return made._lowlevel_server


def add_contents(made: MCPServer) -> None:
    @made.tool(description="Text")
    def test_simple_text() -> Many:
        return [text("This is a simple text response for testing.")]

    @made.tool(description="A picture")
    def test_image_content() -> Many:
        return [picture()]

    @made.tool(description="A sound")
    def test_audio_content() -> Many:
        return [types.AudioContent(type="audio", data=SOUND, mime_type="audio/wav")]

    @made.tool(description="A resource")
    def test_embedded_resource() -> Many:
        return [embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")]

    @made.tool(description="Several kinds of content")
    def test_multiple_content_types() -> Many:
        value = json.dumps({"test": "data", "value": 123})
        resource = embedded("test://mixed-content-resource", "application/json", value)
        return [text("Multiple content types test:"), picture(), resource]

    @made.tool(description="An error")
    def test_error_handling() -> Many:
        raise ValueError("This tool intentionally returns an error for testing")


def add_streams(made: MCPServer) -> None:
    @made.tool(description="Progress")
    async def test_tool_with_progress(context: Context) -> str:
        for done in (0, 50, 100):
            await context.report_progress(done, 100)
            await asyncio.sleep(0.05)
        return "done"

    @made.tool(description="Log messages, where they are asked for")
    async def test_logging_tool(context: Context) -> str:
        await context.info("a message")
        return "done"

    @made.tool(description="Needs a client that samples")
    def test_missing_capability(context: Context) -> str:
        if context.client_capabilities is None or context.client_capabilities.sampling is None:
            missing = {"requiredCapabilities": {"sampling": {}}}
            raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "the client does not sample", missing)
        return "done"

    @made.tool(description="A stream, and a question at its end")
    async def test_streaming_elicitation(context: Context) -> str | InputRequiredResult:
        await context.report_progress(1, 2)
        return InputRequiredResult(input_requests={"name": question("What is your name?", "name")})

    @made.tool(description="Tell who listens that the tools have changed")
    async def test_trigger_tool_change(context: Context) -> str:
        await context.notify_tools_changed()
        return "done"

    @made.tool(description="Tell who listens that the prompts have changed")
    async def test_trigger_prompt_change(context: Context) -> str:
        await context.notify_prompts_changed()
        return "done"


def add_questions(made: MCPServer) -> None:
    @made.tool(description="Ask for a name")
    def test_input_required_result_elicitation(context: Context) -> str | InputRequiredResult:
        name = answer_to(context, "user_name")
        if not isinstance(name, types.ElicitResult):
            return InputRequiredResult(input_requests={"user_name": question("What is your name?", "name")})
        return f"Hello, {content_of(name, 'name')}!"

    @made.tool(description="Ask a model of the client")
    def test_input_required_result_sampling(context: Context) -> str | InputRequiredResult:
        capital = answer_to(context, "capital_question")
        if capital is None:
            return InputRequiredResult(
                input_requests={"capital_question": sample("What is the capital of France?", 100)}
            )
        return f"The model says: {capital.content.text}"

    @made.tool(description="Ask for the roots")
    def test_input_required_result_list_roots(context: Context) -> str | InputRequiredResult:
        roots = answer_to(context, "client_roots")
        if roots is None:
            return InputRequiredResult(input_requests={"client_roots": types.ListRootsRequest()})
        return f"The roots are {', '.join(str(root.uri) for root in roots.roots)}"

    @made.tool(description="Ask only what the client can answer")
    def test_input_required_result_capabilities(context: Context) -> str | InputRequiredResult:
        able = context.client_capabilities or types.ClientCapabilities()
        requests: dict[str, Any] = {}
        if able.sampling is not None:
            requests["greeting"] = sample("Generate a greeting", 50)
        if able.elicitation is not None:
            requests["name"] = question("What is your name?", "name")
        return InputRequiredResult(input_requests=requests) if requests else "nothing can be asked"


def add_states(made: MCPServer) -> None:
    @made.tool(description="Ask, and keep a state at the client")
    def test_input_required_result_request_state(context: Context) -> str | InputRequiredResult:
        if context.request_state != "waits for a word":
            confirm = question("Please confirm", "ok", "boolean")
            return InputRequiredResult(input_requests={"confirm": confirm}, request_state="waits for a word")
        return "state-ok"

    @made.tool(description="Ask, and keep a state that nobody may change")
    def test_input_required_result_tampered_state(context: Context) -> str | InputRequiredResult:
        if context.request_state is None:
            confirm = question("Please confirm", "ok", "boolean")
            return InputRequiredResult(input_requests={"confirm": confirm}, request_state="sealed")
        return "state-ok"

    @made.tool(description="Ask several things at once")
    def test_input_required_result_multiple_inputs(context: Context) -> str | InputRequiredResult:
        if context.request_state is None or len(context.input_responses or {}) < 3:
            requests: dict[str, Any] = {
                "user_name": question("What is your name?", "name"),
                "greeting": sample("Generate a greeting", 50),
                "client_roots": types.ListRootsRequest(),
            }
            return InputRequiredResult(input_requests=requests, request_state="three questions")
        return "all is answered"

    @made.tool(description="Ask twice")
    def test_input_required_result_multi_round(context: Context) -> str | InputRequiredResult:
        if context.request_state is None:
            first = question("Step 1: What is your name?", "name")
            return InputRequiredResult(input_requests={"step1": first}, request_state="step 1")
        if context.request_state == "step 1":
            second = question("Step 2: What is your favorite color?", "color")
            return InputRequiredResult(input_requests={"step2": second}, request_state="step 2")
        return "both are answered"


def add_resources(made: MCPServer) -> None:
    @made.resource("test://static-text", description="A text", mime_type="text/plain")
    def static_text() -> str:
        return "This is the content of the static text resource."

    @made.resource("test://static-binary", description="A picture", mime_type="image/png")
    def static_binary() -> bytes:
        return base64.b64decode(PIXEL)

    @made.resource("test://template/{id}/data", description="Made from its address", mime_type="application/json")
    def template(id: str) -> str:  # noqa: A002  the name stands in the address
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def add_prompts(made: MCPServer) -> None:
    @made.prompt(description="Without arguments")
    def test_simple_prompt() -> str:
        return "This is a simple prompt for testing."

    @made.prompt(description="With arguments")
    def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @made.prompt(description="With a resource")
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803
        resource = embedded(resourceUri, "text/plain", "Embedded resource content for testing.")
        return [UserMessage(resource), UserMessage("Please process the embedded resource above.")]

    @made.prompt(description="With a picture")
    def test_prompt_with_image() -> list[UserMessage]:
        return [UserMessage(picture()), UserMessage("Please analyze the image above.")]

    @made.prompt(description="Asks for its context")
    def test_input_required_result_prompt(context: Context) -> str | InputRequiredResult:
        said = answer_to(context, "user_context")
        if not isinstance(said, types.ElicitResult):
            asked = question("What context should the prompt use?", "context")
            return InputRequiredResult(input_requests={"user_context": asked})
        return f"The context is {content_of(said, 'context')}"

    @made.completion()
    async def complete(reference: Any, argument: Any, context: Any) -> types.Completion:
        del reference, context
        values = [word for word in ("paris", "park", "test", "tested") if word.startswith(argument.value)]
        return types.Completion(values=values, total=len(values), has_more=False)
