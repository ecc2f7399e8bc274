// SPDX-License-Identifier: Apache-2.0

/// What a file in Objective-C has, as far as its text says it.
public struct ObjectiveFacts: Sendable {
    /// Its path.
    public var path: String
    /// Where a session is made; nil for nowhere.
    public var use: Place?
    /// Whether it answers user activities.
    public var continuesActivities: Bool
    /// Literal texts that reach the sheet, with where they are, and whether each is an error.
    public var texts: [(text: String, place: Place, isError: Bool)]

    static func read(_ paths: [String], _ files: any ProjectFiles) -> [String: ObjectiveFacts] {
        var result: [String: ObjectiveFacts] = [:]
        let filter = SourceFilter(modules: [])
        for path in paths where path.hasSuffix(".m") || path.hasSuffix(".mm") {
            guard let bytes = files.bytes(path), bytes.count < 1 << 20, filter.matters(bytes) else { continue }
            result[path] = ObjectiveFacts(path, String(decoding: bytes, as: UTF8.self))
        }
        return result
    }

    private init(_ path: String, _ text: String) {
        self.path = path
        continuesActivities = text.contains("continueUserActivity:")
        texts = []
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let code = line.trimmed
            guard !code.hasPrefix("//") else { continue }
            let place = Place(path, Position(line: number + 1))
            if use == nil, code.contains("[NFC"), code.contains("Session alloc]") { use = place }
            for (mark, isError) in [("alertMessage = @\"", false), ("ErrorMessage:@\"", true)] {
                guard let start = code.firstRange(of: mark)?.upperBound else { continue }
                let text = String(code[start...].prefix { $0 != "\"" })
                if !text.isEmpty { texts.append((text, place, isError)) }
            }
        }
    }
}
