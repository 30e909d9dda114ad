// Tells filebus what opencode's sub-agents report, and hands on what it answers. A hook that fails changes nothing.
import { spawn } from "node:child_process"

export const Filebus = async ({ directory }) => {
  const hook = (event, session, more) =>
    new Promise((resolve) => {
      const child = spawn("filebus", ["hook", "--client", "opencode", event], { cwd: directory, timeout: 10000 })
      let out = ""
      child.stdout.on("data", (data) => (out += data))
      child.stderr.resume()
      child.stdin.on("error", () => {})
      child.on("error", () => resolve({}))
      child.on("close", () => {
        try {
          resolve(JSON.parse(out).hookSpecificOutput ?? {})
        } catch {
          resolve({})
        }
      })
      child.stdin.end(JSON.stringify({ session_id: session, cwd: directory, hook_event_name: event, ...more }))
    })
  const failed = (session, call, args, error) =>
    hook("PostToolUseFailure", session, { tool_name: "Task", tool_use_id: call, tool_input: args, error })
  return {
    event: async ({ event }) => {
      const { info, part } = event.properties ?? {}
      if (event.type === "session.created" && info && !info.parentID) await hook("SessionStart", info.id, { source: "startup" })
      if (event.type !== "message.part.updated" || part?.tool !== "task" || part.state?.status !== "error") return
      await failed(part.sessionID, part.callID, part.state.input, part.state.error)
    },
    "experimental.session.compacting": async ({ sessionID }, output) => {
      const { additionalContext } = await hook("SessionStart", sessionID, { source: "compact" })
      if (additionalContext) output.context.push(additionalContext)
    },
    "tool.execute.before": async ({ tool, sessionID }, { args }) => {
      if (tool !== "task" || !args?.task_id) return // else the agent is a new one
      await hook("SubagentStart", sessionID, { agent_id: args.task_id, agent_type: args.subagent_type ?? "agent" })
    },
    "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
      const match = tool === "task" && /^(<task id="([^"]*)" state="(\w+)">\n<task_\w+>\n)([^]*)(\n<\/task_\w+>[^]*)$/.exec(output?.output ?? "")
      if (!match) return
      const [, begin, agentId, state, content, end] = match
      if (state === "error") await failed(sessionID, callID, args, content)
      if (state !== "completed") return // it works on in the background
      const tool_response = { status: "completed", agentId, content }
      const answer = await hook("PostToolUse", sessionID, { tool_name: "Task", tool_use_id: callID, tool_input: args, tool_response })
      if (answer.updatedToolOutput?.content) output.output = begin + answer.updatedToolOutput.content + end
    },
  }
}
