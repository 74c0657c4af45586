/// The modules that a Python script imports at its beginning and that are not here.
enum PythonImports {
    /// Reads the script without running it; a module under `try` or in a function may be done without.
    private static let reader = """
        import ast, importlib.util, os, sys
        path = sys.argv[1]
        sys.path[0] = os.path.dirname(path)
        try:
            with open(path, "rb") as file:
                body = ast.parse(file.read(1 << 23)).body
        except (SyntaxError, ValueError) as error:
            print("line", getattr(error, "lineno", None) or 1)
            sys.exit(3)
        for node in body:
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            for name in {name.split(".")[0]: 0 for name in names}:
                if name not in sys.modules and importlib.util.find_spec(name) is None:
                    print("module", name)
        """

    /// Asks the script's own interpreter.
    static func needs(of program: String, interpreter: String) -> ProgramNeeds {
        guard let answer = Examination([interpreter, "-c", reader, program]) else { return ProgramNeeds() }
        switch answer.code {
        case 0: return ProgramNeeds(missing: sentences(answer.output))
        case 3:
            let line = answer.output.split(separator: "\n").last?.split(separator: " ").last ?? "1"
            return ProgramNeeds(missing: ["is no Python that its interpreter can read: line \(printable(String(line)))"]
            )
        default: return ProgramNeeds(notes: ["its interpreter could not tell what modules it imports"])
        }
    }

    private static func sentences(_ output: String) -> [String] {
        output.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 2, words[0] == "module" else { return nil }
            return "imports \(printable(String(words[1]))), which this machine's Python does not have"
        }
    }
}
