// SPDX-License-Identifier: Apache-2.0

/// A target with its sources, which a rule checks.
public struct Unit: Sendable {
    /// The target.
    public let target: Target
    /// Its sources, with those of the project's modules that they import.
    public let index: ModuleIndex
    /// The paths of its own Swift files that were parsed; findings in others belong to other targets.
    public let ownFiles: Set<String>
    /// Its sources in Objective-C.
    public let objective: [ObjectiveFacts]
    /// Its texts by key.
    public let strings: StringTable
    /// Entitlements with keys of Core NFC that no target of the project names.
    public let looseEntitlements: [ConfigFile]
    /// What the caller knows of the app.
    public let options: ProjectOptions
    /// All files.
    public let files: any ProjectFiles
    /// Its sessions and delegates.
    public let sessions: Sessions
    /// What people read on the sheet.
    public let texts: [SheetText]

    /// Results about it that several rules share.
    public let memory = UnitMemory()

    init(
        target: Target,
        index: ModuleIndex,
        ownFiles: Set<String>,
        objective: [ObjectiveFacts],
        strings: StringTable,
        looseEntitlements: [ConfigFile],
        options: ProjectOptions,
        files: any ProjectFiles
    ) {
        self.target = target
        self.index = index
        self.ownFiles = ownFiles
        self.objective = objective
        self.strings = strings
        self.looseEntitlements = looseEntitlements
        self.options = options
        self.files = files
        let sessions = Sessions(index)
        self.sessions = sessions
        texts = SheetTexts(index: index, sessions: sessions, strings: strings).all
    }

    /// Whether it is an app or an App Clip.
    public var isApp: Bool { target.kind == .app || target.kind == .clip }

    /// Its own functions in files that import Core NFC, with their numbers.
    public var ownFunctions: [(number: Int, function: FunctionInfo)] {
        index.functions.enumerated().filter {
            ownFiles.contains($0.element.file.path) && $0.element.file.importsCoreNFC
        }
        .map { ($0.offset, $0.element) }
    }

    /// Whether a place is in the target's own sources.
    public func isOwn(_ function: FunctionInfo) -> Bool { ownFiles.contains(function.file.path) }

    /// Where its own sources use Core NFC; nil when they don't.
    public var ownUse: Place? {
        for creation in sessions.creations where isOwn(index.functions[creation.function]) {
            return index.functions[creation.function].file.place(creation.call.node)
        }
        return objective.lazy.compactMap(\.use).first
    }

    /// Whether it uses Core NFC, also by the modules that it imports.
    public var usesCoreNFC: Bool { ownUse != nil || !sessions.creations.isEmpty }
}
