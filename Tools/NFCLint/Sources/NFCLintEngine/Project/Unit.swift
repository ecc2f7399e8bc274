// SPDX-License-Identifier: Apache-2.0

/// A target with everything that rules check in it.
public struct Unit: Sendable {
    /// The target.
    public let target: Target
    /// Where a manifest names the plugin through which the app uses Core NFC; nil if it uses none.
    public let plugin: Place?
    /// The target's sources, including those of imported project modules.
    public let index: ModuleIndex
    /// The paths of the target's own parsed Swift files. Findings in other files belong to other targets.
    public let ownFiles: Set<String>
    /// The target's Objective-C files.
    public let objective: [ObjectiveFacts]
    /// The target's localized texts, by key.
    public let strings: StringTable
    /// Entitlements files with Core NFC keys that belong to no target.
    public let looseEntitlements: [ConfigFile]
    /// Facts that the caller supplied about the app.
    public let options: ProjectOptions
    /// All files of the project.
    public let files: any ProjectFiles
    /// The target's sessions and delegates.
    public let sessions: Sessions
    /// The texts that users read on the scanning sheet.
    public let texts: [SheetText]

    /// Results about the target that several rules share.
    public let memory = UnitMemory()

    init(
        target: Target,
        plugin: Place?,
        index: ModuleIndex,
        ownFiles: Set<String>,
        objective: [ObjectiveFacts],
        strings: StringTable,
        looseEntitlements: [ConfigFile],
        options: ProjectOptions,
        files: any ProjectFiles
    ) {
        self.target = target
        self.plugin = plugin
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

    /// Whether the target is an app or an App Clip.
    public var isApp: Bool { target.kind == .app || target.kind == .clip }

    /// The target's own functions in files that import Core NFC, with their indexes.
    public var ownFunctions: [(number: Int, function: FunctionInfo)] {
        index.functions.enumerated().filter {
            ownFiles.contains($0.element.file.path) && $0.element.file.importsCoreNFC
        }
        .map { ($0.offset, $0.element) }
    }

    /// Whether a function is in the target's own sources.
    public func isOwn(_ function: FunctionInfo) -> Bool { ownFiles.contains(function.file.path) }

    /// The first session that the target's own sources create; nil if there is none.
    public var ownSession: Place? {
        for creation in sessions.creations where isOwn(index.functions[creation.function]) {
            return index.functions[creation.function].file.place(creation.call.node)
        }
        return objective.lazy.compactMap(\.use).first
    }

    /// The first use of Core NFC in the target's own sources or through a plugin; nil if there is none.
    public var ownUse: Place? { ownSession ?? plugin }

    /// Whether the target uses Core NFC: directly, through imported modules or a plugin, or by its configuration.
    public var usesCoreNFC: Bool {
        let hasKeys =
            isApp
            && target.variants.contains { variant in
                let usage = "NFCReaderUsageDescription"
                return variant.info?.root[usage] != nil || variant.generatedInfo[usage] != nil
                    || variant.entitlements?.root["com.apple.developer.nfc.readersession.formats"] != nil
            }
        return hasKeys || ownUse != nil || !sessions.creations.isEmpty
    }

    /// Whether any of the target's own sources imports Core NFC, even if it creates no session.
    var importsCoreNFC: Bool {
        objective.contains(where: \.importsCoreNFC)
            || index.files.contains { $0.importsCoreNFC && ownFiles.contains($0.path) }
    }
}
