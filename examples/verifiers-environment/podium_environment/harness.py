"""The harness: one request of prompt and reply. Nothing of the model's runs outside of Podium's sandbox."""

import httpx
import verifiers.v1 as vf
from verifiers.v1.dialects.chat import message_to_wire

READ_TIMEOUT_SECONDS = 3600.0


class PodiumHarnessConfig(vf.HarnessConfig):
    pass


class PodiumHarness(vf.Harness[PodiumHarnessConfig]):
    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        system, prompt = self.resolve_prompt(data)
        messages = [{"role": "system", "content": system}] if system else []
        if isinstance(prompt, str):
            messages.append({"role": "user", "content": prompt})
        else:
            messages += [message_to_wire(message) for message in prompt or []]
        timeout = httpx.Timeout(30.0, read=READ_TIMEOUT_SECONDS)
        async with httpx.AsyncClient(timeout=timeout, trust_env=False) as client:
            answer = await client.post(
                f"{endpoint.rstrip('/')}/chat/completions",
                headers={"Authorization": f"Bearer {secret}"},
                json={"model": ctx.model, "messages": messages},
            )
        answer.raise_for_status()
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")
