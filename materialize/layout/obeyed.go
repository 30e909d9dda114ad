package layout

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// obeyed matches paths, in small letters, of files that clients of agents and tools of builds obey: instructions, what
// they may run, and what is run when something is built, tested or committed.
var obeyed = Pattern(`(^|/)(` + strings.Join([]string{
	`(claude|agents|gemini|qwen|crush|warp|codex|skill|copilot-instructions)(\.(local|override))?\.md`,
	`\.(cursor|windsurf|cline|roo|kilocode|trae)rules`, `\.goosehints`, `\.rules`, `\.?mcp\.json`,
	`(opencode|crush|\.crush)\.jsonc?`, `\.aider[^/]*`,
	`\.claude/(settings[^/]*\.json|(agents|commands|hooks|skills|rules|output-styles|plugins|workflows)/.*)`,
	`\.(codex|gemini|qwen|opencode|cursor|windsurf|continue|roo|clinerules|kilocode|augment|junie|trae|amazonq|amp|factory|claude-plugin)/.*`,
	`\.kiro/(steering|hooks|settings|agents)/.*`, `\.serena/project[^/]*\.yml`, `\.specify/(scripts|templates)/.*`,
	`\.github/(workflows|actions|instructions|prompts|agents|chatmodes|hooks)/.*`,
	`\.(vscode|idea|husky|devcontainer|circleci|githooks|buildkite|gitea|forgejo)/.*`, `\.(gitmodules|gitattributes|gitconfig)`,
	`\.(gitlab-ci|travis|pre-commit-config|drone|woodpecker)\.ya?ml`, `\.(envrc|env|npmrc|yarnrc|yarnrc\.yml|pypirc|bashrc|bash_profile|zshrc|zshenv|profile|netrc)`,
	`(package(-lock)?|deno|composer|turbo|nx|lerna)\.jsonc?`, `(bunfig|pyproject|cargo|mise|pixi)\.toml`, `pnpm-[^/]*\.yaml`,
	`[^/]*\.(mk|mak|gradle|gradle\.kts|cmake|csproj|fsproj|sln|targets|props|sbt|gemspec|pth|cabal)`, `(gnu|bsd)?makefile`, `\.?justfile`, `taskfile\.ya?ml`, `magefile\.go`,
	`(conftest|sitecustomize|usercustomize|setup|noxfile|tasks|fabfile|dodo|manage)\.py`, `(wscript|sconstruct)`, `(tox|setup|pytest)\.(ini|cfg)`,
	`(rakefile|gemfile|guardfile|capfile|podfile|fastfile|brewfile|vagrantfile|procfile|jenkinsfile|tiltfile|earthfile)`, `(dockerfile|containerfile)(\.[^/]*)?`,
	`(docker-)?compose[^/]*\.ya?ml`, `azure-pipelines[^/]*\.ya?ml`, `cmakelists\.txt`, `meson\.build`, `(build|workspace|module)\.bazel`, `build\.(rs|xml|zig|sbt|sh)`, `pom\.xml`, `flake\.nix`,
	`[^/. ]{1,6}~[0-9](\.[^/.]{0,3})?(/.*)?`, // what another name is called in short
	`[^/]*\.config\.(js|cjs|mjs|ts|mts|cts)`, `(gulpfile|gruntfile|webpack\.[^/]*)\.(js|ts|mjs|cjs)`, `mix\.exs`, `rebar\.config`, `configure(\.ac)?`,
}, "|") + `)$`)

// IsObeyed reports whether a file at a path is one that clients of agents, or tools that build and test, obey, on whatever
// disk: it may not tell letter cases or forms of Unicode apart, or may leave out what nobody sees and what stands at the end.
// Nothing that came from another store or was named by an agent is ever written there.
func IsObeyed(path string) bool {
	parts := strings.Split(strings.ReplaceAll(path, `\`, "/"), "/")
	for i, part := range parts {
		parts[i] = strings.ToLower(Visible(part))
	}
	return obeyed().MatchString(strings.Join(parts, "/"))
}

// Visible returns a part of a path as disks may take it: without characters that nobody sees, streams, and what
// they leave out at the end.
func Visible(segment string) string {
	segment = strings.Map(func(c rune) rune {
		if unicode.In(c, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		return c
	}, norm.NFKC.String(segment))
	segment, _, _ = strings.Cut(segment, ":") // a stream of a file
	return strings.TrimRight(segment, " .")
}
