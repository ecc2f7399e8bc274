// SPDX-License-Identifier: Apache-2.0

/// The facts about an Objective-C file, found in its text.
public struct ObjectiveFacts: Sendable {
    /// A call that creates a session.
    public struct Creation: Sendable {
        /// The session's type.
        public var kind: String
        /// The variable or property that stores the session; nil if it is not stored.
        public var stored: String?
        /// The index of the method that contains the call.
        public var method: Int
        /// The statement of the call.
        public var statement: ObjectiveCode.Statement

        /// Whether callbacks run on the session's own queue.
        public var hasOwnQueue: Bool { statement.code.contains("queue:nil") || statement.code.contains("queue: nil") }
        /// Whether the session ends after the first message.
        public var endsAfterFirst: Bool {
            let value = statement.code.split(separator: "invalidateAfterFirstRead:").dropFirst().first ?? ""
            return ["yes", "true"].contains { value.lowercased().drop { $0 == " " }.hasPrefix($0) }
        }
    }

    /// A text on the scanning sheet.
    public struct Text: Sendable {
        /// The text, with ``SheetText/gap`` for inserted values.
        public var text: String
        /// The purpose of the text.
        public var role: SheetText.Role
        /// The location of the text.
        public var place: Place
        /// Whether the text is a localization key.
        public var isKey: Bool
    }

    /// The file's path.
    public let path: String
    /// The methods of the file.
    public let code: ObjectiveCode
    /// The calls that create sessions.
    public private(set) var creations: [Creation] = []
    /// Whether the file imports Core NFC.
    let importsCoreNFC: Bool
    /// Whether the file handles user activities.
    public let continuesActivities: Bool
    /// The texts shown on the scanning sheet.
    public private(set) var texts: [Text] = []

    /// The location of the first session; nil if the file creates none.
    public var use: Place? { creations.first?.statement.place }

    static func read(_ paths: [String], _ files: any ProjectFiles) -> [String: ObjectiveFacts] {
        let filter = SourceFilter(modules: [])
        let found = Parallel.map(paths.filter { $0.hasSuffix(".m") || $0.hasSuffix(".mm") }) {
            path -> ObjectiveFacts? in
            guard let bytes = files.bytes(path), bytes.count < 1 << 20, filter.matters(bytes) else { return nil }
            return ObjectiveFacts(path, bytes)
        }
        return Dictionary(found.compactMap { $0 }.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
    }

    private init(_ path: String, _ bytes: [UInt8]) {
        self.path = path
        importsCoreNFC = SourceFilter(names: ["CoreNFC/", "import CoreNFC"]).matters(bytes)
        code = ObjectiveCode(path, bytes)
        continuesActivities = code.methods.contains { $0.selector.contains("continueUserActivity:") }
        for (number, method) in code.methods.enumerated() {
            for statement in method.statements {
                guard let creation = Self.creation(statement, number) else { continue }
                creations.append(creation)
            }
        }
        texts = ObjectiveTexts(code).all
    }

    private static let kinds = [
        "NFCNDEFReaderSession", "NFCTagReaderSession", "NFCVASReaderSession", "NFCISO15693ReaderSession",
    ]

    private static func creation(_ statement: ObjectiveCode.Statement, _ number: Int) -> Creation? {
        let code = statement.code
        for kind in kinds where code.contains("[\(kind) alloc]") || code.contains("[\(kind) new]") {
            let parts = code.split(separator: "=", maxSplits: 1)
            let left = parts.count == 2 ? parts[0] : ""
            let names = left.split { !($0.isLetter || $0.isNumber || $0 == "_") }
            let stored = left.contains("*") ? nil : names.last.map { String($0.drop { $0 == "_" }) }
            return Creation(kind: kind, stored: stored, method: number, statement: statement)
        }
        return nil
    }
}
