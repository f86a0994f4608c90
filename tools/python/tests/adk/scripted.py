"""An app whose model is a script: what the user says is what it does."""

from google.adk.agents import LlmAgent
from google.adk.apps.app import App
from google.adk.apps._configs import EventsCompactionConfig
from google.adk.apps.llm_event_summarizer import LlmEventSummarizer
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.tools import ToolContext
from google.genai import types


def content(*parts):
    return types.Content(role="model", parts=list(parts))


class Script(BaseLlm):
    """Does what the last message says, and notes the instruction that it was given."""

    seen: list[str] = []

    async def generate_content_async(self, llm_request, stream=False):
        self.seen.append(str(llm_request.config.system_instruction))
        last = llm_request.contents[-1].parts[-1]
        said = (last.text or "").split()
        if last.function_response:
            yield LlmResponse(content=content(types.Part(text=f"done: {last.function_response.name}")))
        elif said[:1] == ["tool"]:
            call = types.FunctionCall(name="remember", args={"key": said[1], "value": said[2]})
            yield LlmResponse(content=content(types.Part(function_call=call)))
        elif said[:1] == ["draw"]:
            call = types.FunctionCall(name="draw", args={"name": said[1], "text": said[2]})
            yield LlmResponse(content=content(types.Part(function_call=call)))
        elif said[:1] == ["transfer"]:
            call = types.FunctionCall(name="transfer_to_agent", args={"agent_name": said[1]})
            yield LlmResponse(content=content(types.Part(function_call=call)))
        else:
            answer = f"answer to {last.text}"
            if stream:
                for piece in answer.split():
                    yield LlmResponse(content=content(types.Part(text=piece)), partial=True)
            yield LlmResponse(content=content(types.Part(text=answer)))


def remember(key: str, value: str, tool_context: ToolContext) -> dict:
    """Writes state."""
    tool_context.state[key] = value
    tool_context.state["user:count"] = tool_context.state.get("user:count", 0) + 1
    tool_context.state["temp:last"] = key
    return {"ok": True}


async def draw(name: str, text: str, tool_context: ToolContext) -> dict:
    """Saves an artifact."""
    return {"version": await tool_context.save_artifact(name, types.Part(text=text))}


def make_app():
    """The app, and its models, whose instructions were seen."""
    models = [Script(model=name, seen=[]) for name in ("root", "writer", "summary")]
    writer = LlmAgent(
        name="writer", model=models[1], instruction="Write of {topic?}.", output_key="draft", tools=[remember]
    )
    root = LlmAgent(
        name="root",
        model=models[0],
        instruction="Topic {topic?}, {user:count?} calls, first {first?}.",
        output_key="answer",
        tools=[remember, draw],
        sub_agents=[writer],
    )
    compaction = EventsCompactionConfig(
        compaction_interval=7, overlap_size=1, summarizer=LlmEventSummarizer(llm=models[2])
    )
    return App(name="app", root_agent=root, events_compaction_config=compaction), models
