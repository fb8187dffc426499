"""The problems of a release as tasks. The reward is 1 if Podium's verdict is `passed`, else 0."""

import verifiers.v1 as vf

from podium_environment.judge import JudgeConfig, judge_for, read_tasks


class PodiumData(vf.TaskData):
    task_id: str
    """The problem's; `podium verifiers import` finds it here."""
    kind: str
    group: str


class PodiumTask(vf.Task[PodiumData, vf.State, JudgeConfig]):
    @property
    def key(self) -> str:
        return self.data.task_id

    @vf.reward(weight=1.0)
    async def passed(self, trace: vf.Trace) -> float:
        """Raises NoVerdict if there is no verdict; verifiers then records an error and no reward."""
        judge = await judge_for(self.config)
        last = next((call for call in reversed(trace.calls) if call.error is None), None)
        found = await judge.ruling(self.data.task_id, trace.last_reply, (last and last.finish_reason) or "")
        trace.info["podium"] = {"verdict": found["verdict"], "reason": found["reason"]}
        return 1.0 if found["passed"] else 0.0


class PodiumConfig(vf.TasksetConfig):
    task: JudgeConfig = JudgeConfig()


class PodiumTaskset(vf.Taskset[PodiumTask, PodiumConfig]):
    def load(self) -> list[PodiumTask]:
        return [self._task(one) for one in read_tasks(self.config.task)]

    def _task(self, one: dict) -> PodiumTask:
        texts = {message["role"]: message["content"] for message in one["messages"]}
        data = PodiumData(
            id=one["task_id"],
            name=one["task_id"],
            task_id=one["task_id"],
            kind=one["kind"],
            group=one["group"],
            system_prompt=texts.get("system"),
            prompt=texts["user"],
        )
        return PodiumTask(data, self.config.task)
