// SPDX-License-Identifier: Apache-2.0
import SwiftSyntax

extension Checklist {
    static func questions(_ unit: Unit) -> [Question] { configuration(unit) + code(unit) + reach(unit) }

    private static func configuration(_ unit: Unit) -> [Question] {
        let hasInfo = unit.target.variants.contains(where: \.isInfoKnown)
        let hasEntitlements = unit.target.variants.contains(where: \.areEntitlementsKnown)
        let formats = unit.place(entitlement: "com.apple.developer.nfc.readersession.formats")
        return [
            Question(
                title: "Capability: the app has the entitlement for reader sessions",
                rules: ["CFG010"],
                concerns: hasEntitlements,
                seen: formats
            ),
            Question(
                title: "Usage description: the Info.plist says why the app scans",
                rules: ["CFG001", "CFG002", "CFG003"],
                concerns: hasInfo,
                seen: unit.place(info: "NFCReaderUsageDescription")
            ),
            Question(
                title: "Formats: the entitlements have those that the minimum iOS version requires",
                rules: ["CFG011", "CFG012", "CFG013", "CFG014", "CFG016"],
                concerns: hasEntitlements,
                seen: formats
            ),
        ]
    }

    private static func code(_ unit: Unit) -> [Question] {
        let uses = unit.usesCoreNFC
        let writes = unit.place { $0.calls.contains { $0.name == "writeNDEF" } }
        let query = unit.place { $0.calls.contains { $0.name == "queryNDEFStatus" } }
        let end = unit.sessions.delegates.lazy.flatMap(\.invalidation).first.map { unit.index.functions[$0].place }
        let delegate = unit.sessions.delegates.lazy.flatMap(\.callbacks).first
        return [
            Question(
                title: "readingAvailable is checked before a session",
                rules: ["SRC001"],
                concerns: uses,
                seen: unit.place { $0.names.contains("readingAvailable") }
            ),
            Question(
                title: "The session has a delegate that stays alive",
                rules: ["SRC002"],
                concerns: uses,
                seen: delegate.map { unit.index.functions[$0].place } ?? unit.use
            ),
            Question(
                title: "The session is set to nil after it was invalidated",
                rules: ["SRC003", "SRC008"],
                concerns: end != nil,
                seen: end
            ),
            Question(
                title: "Cancelling is handled separately from errors",
                rules: ["SRC004", "SRC029"],
                concerns: end != nil,
                seen: end
            ),
            Question(
                title: "The status is queried before writing",
                rules: ["SRC005"],
                concerns: writes != nil,
                seen: query ?? writes
            ),
            Question(
                title: "The capacity is compared before writing",
                rules: ["SRC006"],
                concerns: writes != nil,
                seen: query ?? writes
            ),
        ]
    }

    private static func reach(_ unit: Unit) -> [Question] {
        let variants = unit.target.variants
        let hasInfo = variants.contains(where: \.isInfoKnown)
        let lists = [
            "com.apple.developer.nfc.readersession.iso7816.select-identifiers",
            "com.apple.developer.nfc.readersession.felica.systemcodes",
        ]
        // The AID in a SELECT command is rarely a literal where it is sent, so look for the instruction byte A4.
        let selects = unit.index.functions.contains { function in
            function.body?.trimmedDescription.uppercased().contains("0XA4") == true
        }
        let domains = unit.place(entitlement: "com.apple.developer.associated-domains")
        return [
            Question(
                title: "AIDs and system codes are listed",
                rules: ["SRC009", "SRC010", "CFG020", "CFG024", "CFG026", "CFG027"],
                concerns: hasInfo && unit.usesCoreNFC && !selects,
                seen: lists.lazy.compactMap { unit.place(info: $0) }.first ?? unit.use
            ),
            Question(
                title: "Background reading: domains and a link handler",
                rules: ["DOM001", "DOM002", "DOM010", "SRC017", "SRC018", "SRC032"],
                concerns: variants.contains(where: \.areEntitlementsKnown) && domains != nil,
                seen: domains
            ),
            // The rule checks only callbacks, so it can't prove that sessions never overlap elsewhere.
            Question(
                title: "Only one session at a time",
                rules: ["SRC007"],
                concerns: unit.usesCoreNFC && unit.sessions.begins.count < 2,
                seen: unit.use
            ),
        ]
    }
}

extension Unit {
    /// The location of a key in the entitlements.
    fileprivate func place(entitlement key: String) -> Place? {
        target.variants.lazy.compactMap(\.entitlements).compactMap { file in
            file.root.entry(key).map { file.place($0.position) }
        }.first
    }

    /// The location of a key in the Info.plist, or of the setting that generates the key.
    fileprivate func place(info key: String) -> Place? {
        let written = target.variants.lazy.compactMap(\.info).compactMap { file in
            file.root.entry(key).map { file.place($0.position) }
        }
        return written.first ?? target.variants.lazy.compactMap { $0.generatedInfo[key]?.place }.first
    }

    /// The location of the first session, including those in imported modules.
    fileprivate var use: Place? { ownUse ?? sessions.creations.first.map { index.functions[$0.function].place } }

    /// The location of the first function that meets a condition.
    fileprivate func place(_ isMeant: (FunctionInfo) -> Bool) -> Place? { index.functions.first(where: isMeant)?.place }
}
