// SPDX-License-Identifier: Apache-2.0
import SwiftSyntax

extension Checklist {
    static func questions(_ unit: Unit) -> [Question] { configuration(unit) + code(unit) + reach(unit) }

    private static func configuration(_ unit: Unit) -> [Question] {
        let usage = "NFCReaderUsageDescription"
        let hasUsage = unit.target.variants.allSatisfy {
            $0.isInfoKnown || $0.info?.root[usage] != nil || $0.generatedInfo[usage] != nil
        }
        let hasEntitlements = unit.target.variants.allSatisfy(\.areEntitlementsKnown)
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
                concerns: hasUsage && unit.usageTexts.allSatisfy(givesReason),
                seen: unit.place(info: usage)
            ),
            Question(
                title: "Formats: the entitlements list the formats that the minimum iOS version requires",
                rules: ["CFG010", "CFG011", "CFG012", "CFG013", "CFG014", "CFG016"],
                concerns: hasEntitlements && unit.target.variants.allSatisfy { $0.minimum != nil },
                seen: formats
            ),
        ]
    }

    /// Whether a usage text has a purpose that is more than scanning; false if it is not English.
    private static func givesReason(_ text: String) -> Bool {
        let words = text.lowercased().split { !$0.isLetter }
        guard let start = words.firstIndex(where: { ["to", "for", "so", "because"].contains($0) }) else { return false }
        let scanning = [
            "to", "for", "so", "because", "that", "and", "or", "of", "the", "a", "an", "this", "your", "it", "its",
            "is", "we", "you", "can", "use", "need", "require", "access", "app", "nfc", "ndef", "rfid", "tag", "chip",
            "data",
            "near", "field", "communication", "scan", "read", "writ", "us", "interact", "detect", "from", "item",
            "work", "function", "feature", "reader", "info", "content", "message",
        ]
        return words[start...].contains { word in
            !scanning.contains { word == $0 || $0.count > 2 && word.hasPrefix($0) }
        }
    }

    private static func code(_ unit: Unit) -> [Question] {
        let uses = unit.usesCoreNFC
        let writes =
            unit.index.functions.contains { $0.calls.contains { $0.name == "writeNDEF" } }
            || unit.statement { $0.contains(" writeNDEF:") } != nil
        let delegate = unit.sessions.creations.first { $0.delegate?.words == "self" }
        let ends = Set(unit.sessions.delegates.flatMap(\.invalidation).flatMap { unit.index.reach($0) })
        let releases = ends.sorted().first { number in
            unit.index.functions[number].assignments.contains { $0.isNil && unit.sessions.isSession($0.target) }
        }
        let cancels = ends.sorted().first { number in
            let names = unit.index.functions[number].names.filter { $0.hasPrefix("reader") && $0.contains("Error") }
            // A function that names 8 or more codes is a table of all codes, and handles none of them.
            return names.count < 8 && names.contains { $0.hasSuffix("UserCanceled") }
        }
        return [
            Question(
                title: "readingAvailable is checked before a session",
                rules: ["SRC001"],
                concerns: uses,
                seen: unit.place { $0.names.contains("readingAvailable") }
                    ?? unit.statement { $0.contains("readingAvailable") }
            ),
            Question(
                title: "The session has a delegate that stays alive",
                rules: ["SRC002"],
                concerns: uses,
                seen: delegate.map { unit.index.functions[$0.function].place }
                    ?? unit.statement { $0.contains("elegate:self") }
            ),
            Question(
                title: "The session is set to nil after it was invalidated",
                rules: ["SRC003", "SRC008"],
                concerns: uses,
                seen: releases.map { unit.index.functions[$0].place }
                    ?? unit.objectiveEnd { $0.lowercased().contains("session = nil") }
            ),
            Question(
                title: "Cancelling is handled separately from errors",
                rules: ["SRC004", "SRC029"],
                concerns: uses,
                seen: cancels.map { unit.index.functions[$0].place }
                    ?? unit.objectiveEnd { $0.contains("UserCanceled") }
            ),
            Question(
                title: "The status is queried before writing",
                rules: ["SRC005"],
                concerns: writes,
                seen: unit.queryBeforeWrite
                    ?? unit.statement { $0.contains("queryNDEFStatus") }
            ),
            Question(
                title: "The capacity is compared before writing",
                rules: ["SRC006"],
                concerns: writes,
                seen: unit.place(\.comparesCapacity)
                    ?? unit.statement { $0.contains("apacity") && ($0.contains("<") || $0.contains(">")) }
            ),
        ]
    }

    private static func reach(_ unit: Unit) -> [Question] {
        let variants = unit.target.variants
        let hasInfo = variants.allSatisfy(\.isInfoKnown)
        let lists = [
            "com.apple.developer.nfc.readersession.iso7816.select-identifiers",
            "com.apple.developer.nfc.readersession.felica.systemcodes",
        ]
        // The AID in a SELECT command is rarely a literal where it is sent, so look for the instruction byte A4.
        let selects = unit.index.functions.contains { function in
            function.body?.trimmedDescription.uppercased().contains("0XA4") == true
        }
        // Sessions for messages need no lists.
        let kinds = unit.sessions.creations.map(\.kind.rawValue) + unit.objective.flatMap(\.creations).map(\.kind)
        let needsNone = kinds.allSatisfy { $0 == Sessions.Kind.ndef.rawValue }
        let domains = unit.place(entitlement: "com.apple.developer.associated-domains")
        let handlers: Set<String> = ["onContinueUserActivity", "onOpenURL", "userActivities"]
        let handles = unit.index.functions.contains { function in
            ["application", "scene"].contains(function.name) && function.labels.contains("continue")
                || !function.names.isDisjoint(with: handlers)
        }
        let begins = unit.sessions.begins.count + unit.objective.flatMap(\.creations).count
        return [
            Question(
                title: "AIDs and system codes are listed",
                rules: ["SRC009", "SRC010", "CFG020", "CFG024", "CFG026", "CFG027"],
                concerns: hasInfo && unit.usesCoreNFC && !selects,
                seen: lists.lazy.compactMap { unit.place(info: $0) }.first ?? (needsNone ? unit.use : nil)
            ),
            Question(
                title: "Background reading: domains and a link handler",
                rules: ["DOM001", "DOM002", "DOM010", "SRC017", "SRC018", "SRC032"],
                concerns: variants.allSatisfy(\.areEntitlementsKnown)
                    && (handles || unit.objective.contains(where: \.continuesActivities)),
                seen: domains
            ),
            // Without a check for a running session, a second call of the function can begin another one.
            Question(
                title: "Only one session at a time",
                rules: ["SRC007"],
                concerns: unit.usesCoreNFC && begins == 1,
                seen: unit.sessions.begins.first.flatMap { unit.nilCheck($0.function) }
            ),
        ]
    }
}

extension Unit {
    /// The paths of all files whose findings concern the target, including those of imported modules.
    var checkedPaths: Set<String> {
        let variants = target.variants
        let configuration = variants.compactMap(\.info?.path) + variants.compactMap(\.entitlements?.path)
        return Set(index.files.map(\.path) + objective.map(\.path) + configuration)
    }

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

    /// The usage texts of all configurations.
    fileprivate var usageTexts: [String] {
        let key = "NFCReaderUsageDescription"
        return target.variants.compactMap { $0.info?.root[key]?.string ?? $0.generatedInfo[key]?.value }
    }

    /// The first query of the status in a function that writes, or that reaches one that does.
    fileprivate var queryBeforeWrite: Place? {
        index.functions.indices.lazy.compactMap { number -> Place? in
            let function = index.functions[number]
            let query = function.calls.first { $0.name == "queryNDEFStatus" }
            let writes = index.reach(number).contains { index.functions[$0].calls.contains { $0.name == "writeNDEF" } }
            return writes ? query.map { function.file.place($0.node) } : nil
        }.first
    }

    /// Where a function returns if there is a session already.
    fileprivate func nilCheck(_ number: Int) -> Place? {
        let function = index.functions[number]
        return function.statements?.lazy.compactMap { item -> Place? in
            let check = item.item.as(GuardStmtSyntax.self)?.conditions
            let branch = item.item.as(ExpressionStmtSyntax.self)?.expression.as(IfExprSyntax.self)
            let exits = branch?.body.statements.last?.item.is(ReturnStmtSyntax.self) == true
            let marks = check.map { ($0, "==nil") } ?? (exits ? branch.map { ($0.conditions, "!=nil") } : nil)
            let text = marks?.0.trimmedDescription.filter { $0 != " " && $0 != "?" } ?? ""
            let isSession = sessions.names.contains { name in
                ["\(name)", "self.\(name)"].contains { text == $0 + (marks?.1 ?? "") }
            }
            return isSession ? function.file.place(item) : nil
        }.first
    }

    /// The location of the first session, including those in imported modules.
    fileprivate var use: Place? { ownSession ?? sessions.creations.first.map { index.functions[$0.function].place } }

    /// The location of the first function that meets a condition.
    fileprivate func place(_ isMeant: (FunctionInfo) -> Bool) -> Place? { index.functions.first(where: isMeant)?.place }

    /// The location of the first Objective-C statement that meets a condition.
    fileprivate func statement(_ isMeant: (String) -> Bool) -> Place? {
        objective.lazy.flatMap(\.code.methods).flatMap(\.statements).first { isMeant($0.code) }?.place
    }

    /// The Objective-C methods that run when a session ends.
    fileprivate var objectiveEnds: [ObjectiveCode.Method] {
        objective.flatMap { file in
            file.code.methods.filter { $0.selector.hasSuffix("didInvalidateWithError:") }.flatMap {
                file.code.reach($0)
            }
        }
    }

    fileprivate func objectiveEnd(_ isMeant: (String) -> Bool) -> Place? {
        objectiveEnds.lazy.flatMap(\.statements).first { isMeant($0.code) }?.place
    }
}
