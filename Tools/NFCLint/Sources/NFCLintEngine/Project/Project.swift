// SPDX-License-Identifier: Apache-2.0

/// A loaded project: its targets with their sources, and the files that could not be read.
public struct Project: Sendable {
    /// The targets, each with its sources.
    public private(set) var units: [Unit] = []
    /// Entitlements files with Core NFC keys that belong to no target.
    public private(set) var looseEntitlements: [ConfigFile] = []
    /// Damaged files, with the reasons.
    public private(set) var problems: [UnreadFile] = []
    /// Where a manifest names a plugin for Core NFC; nil if there is none.
    let plugin: Place?
    /// The number of checked files.
    public private(set) var fileCount = 0
    /// Facts that the caller supplied about the app.
    public let options: ProjectOptions
    /// The project's files.
    public let files: any ProjectFiles

    /// Loads a project.
    public init(_ files: any ProjectFiles, options: ProjectOptions = ProjectOptions()) {
        self.files = files
        self.options = options
        let reader = ConfigReader(files)
        let plugins = Plugins(files)
        self.plugin = plugins.uses.first?.place
        let targets = Discovery(files: files, reader: reader, plugins: plugins).targets()
        let filter = SourceFilter(modules: Self.modulesWithCoreNFC(targets, files))
        let wanted = Set(targets.filter { $0.kind != .test && $0.kind != .other }.flatMap(\.files))
        let swift = wanted.filter { $0.hasSuffix(".swift") }.sorted()
        let parsed = Parallel.map(swift) { Self.parse($0, files, filter.matters) }
        var facts: [String: FileFacts] = [:]
        for (path, result) in zip(swift, parsed) {
            if let fact = result.facts { facts[path] = fact }
            if let reason = result.problem {
                problems.append(UnreadFile(Place(path), reason, isWhole: result.isWhole))
            }
        }
        // Files that don't mention Core NFC, but use types that create sessions or check for availability.
        let helpers = Self.helpers(facts.values)
        if !helpers.isEmpty {
            let filter = NameFilter(helpers)
            let others = swift.filter { facts[$0] == nil }
            for (path, result) in zip(others, Parallel.map(others) { Self.parse($0, files, filter.matters) }) {
                if let fact = result.facts { facts[path] = fact }
            }
        }
        fileCount = files.paths.count
        let texts = StringTables(files: files, reader: reader)
        let objective = ObjectiveFacts.read(wanted.sorted(), files)
        let named = Set(targets.flatMap(\.variants).compactMap { $0.entitlements?.path })
        for path in files.paths where path.hasSuffix(".entitlements") && !named.contains(path) {
            guard let root = reader.read(path),
                root.entries?.contains(where: { $0.key.contains("developer.nfc") }) == true
            else { continue }
            looseEntitlements.append(ConfigFile(path: path, root: root))
        }
        assemble(targets, facts, objective, texts, plugins)
        problems += reader.broken
        problems += files.unread
        problems.sort { $0.place < $1.place }
    }

    /// The modules that use Core NFC, directly or through other modules.
    private static func modulesWithCoreNFC(_ targets: [Target], _ files: any ProjectFiles) -> [String] {
        let libraries = targets.filter { $0.kind == .library }
        let imports = Parallel.map(libraries) { library in
            library.files.filter { $0.hasSuffix(".swift") }.reduce(into: Set<String>()) { names, path in
                if let bytes = files.bytes(path) { names.formUnion(SourceFilter.imports(bytes)) }
            }
        }
        var found: Set<String> = ["CoreNFC"]
        var open = Array(zip(libraries.map(\.module), imports))
        while true {
            let (more, rest) = (
                open.filter { !$0.1.isDisjoint(with: found) }, open.filter { $0.1.isDisjoint(with: found) }
            )
            if more.isEmpty { return found.sorted() }
            found.formUnion(more.map(\.0))
            open = rest
        }
    }

    private struct Parsed: Sendable {
        var facts: FileFacts?
        var problem: String?
        /// Whether nothing in the file was checked.
        var isWhole = true
    }

    private static func parse(
        _ path: String,
        _ files: any ProjectFiles,
        _ matters: ([UInt8]) -> Bool
    ) -> Parsed {
        guard let bytes = files.bytes(path) else {
            return Parsed(problem: "The file can't be read, or is larger than 8 MB.")
        }
        if [[0xFF, 0xFE], [0xFE, 0xFF]].contains(where: bytes.starts) {
            return Parsed(problem: "The file is UTF-16, which Swift compilers can't read.")
        }
        guard matters(bytes) else { return Parsed() }
        let importsCoreNFC = SourceFilter(names: ["import CoreNFC"]).matters(bytes)
        guard bytes.count <= SourceFile.largest else {
            // Large files are usually generated, so ignore those without Core NFC.
            guard importsCoreNFC else { return Parsed() }
            return Parsed(problem: "The file is larger than 512 KB and was ignored.")
        }
        if let problem = SourceShape.problem(bytes) {
            return Parsed(problem: problem, isWhole: importsCoreNFC)
        }
        let file = SourceFile(path: path, bytes: bytes)
        var problem = file.hasErrors ? "Parts of the file are not valid Swift, and were ignored." : nil
        if !String(decoding: bytes, as: UTF8.self).utf8.elementsEqual(bytes) {
            problem = "The file is not UTF-8; invalid bytes were replaced."
        }
        return Parsed(facts: FileFacts(file), problem: problem, isWhole: false)
    }

    /// The names through which other files use sessions: creating types, delegates and availability checks.
    private static func helpers(_ facts: some Sequence<FileFacts>) -> Set<String> {
        var names: Set<String> = []
        for fact in facts where fact.file.importsCoreNFC {
            for type in fact.types where type.inherited.contains(where: { $0.contains("SessionDelegate") }) {
                names.insert(type.name)
            }
            for function in fact.functions where function.names.contains("readingAvailable") {
                if function.kind != .topLevel, function.kind != .initializer { names.insert(function.name) }
                if let owner = function.owner { names.insert(owner) }
            }
        }
        return names.filter { $0.count > 5 }
    }

    /// A target for files that belong to no target: association files and tag images.
    private func loosePieces() -> Target {
        let paths = files.paths.filter { path in
            let name = path.split(separator: "/").last ?? ""
            return name.hasPrefix("apple-app-site-association")
                || options.images.contains(path)
        }
        return Target(name: "links and tags", kind: .loose, place: Place(""), variants: [Variant()], files: paths)
    }

    private mutating func assemble(
        _ targets: [Target],
        _ facts: [String: FileFacts],
        _ objective: [String: ObjectiveFacts],
        _ texts: StringTables,
        _ plugins: Plugins
    ) {
        let loose = looseEntitlements
        let libraries = Dictionary(
            targets.filter { $0.kind == .library }.map { ($0.module, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        let targets = targets + [loosePieces()]
        for target in targets where target.kind != .test && target.kind != .other {
            let own = target.files.compactMap { facts[$0] }
            let written = target.files.compactMap { objective[$0] }
            var seen: Set<String> = [target.module]
            var others: [FileFacts] = []
            // A library's findings are in its own files. Without such files, the other modules don't matter.
            var open =
                target.kind == .library && written.isEmpty && own.isEmpty ? [] : Set(own.flatMap(\.imports)).sorted()
            while let name = open.popLast() {
                guard seen.insert(name).inserted, let library = libraries[name] else { continue }
                let inner = library.files.compactMap { facts[$0] }
                others += inner
                open += Set(inner.flatMap(\.imports)).sorted()
            }
            // Only sheets' texts are looked up.
            let hasSheets = !written.isEmpty || (own + others).contains(where: \.file.importsCoreNFC)
            let strings = hasSheets ? StringTables.paths(target.files) : []
            units.append(
                Unit(
                    target: target,
                    plugin: plugins.use(target),
                    index: ModuleIndex(own + others),
                    ownFiles: Set(own.map(\.file.path)),
                    objective: written,
                    strings: texts.table(strings),
                    looseEntitlements: loose,
                    options: options,
                    files: files
                )
            )
        }
    }
}
