// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let handDecodedRecord = Rule(
        id: "SRC023",
        severity: .info,
        title: "A well-known record is decoded by hand",
        why: """
            A text record begins with a status byte and a language, in one of two encodings. A URI record begins with \
            a prefix code. Code that only cuts off bytes fails for some tags.
            """,
        fix: "Use wellKnownTypeTextPayload() or wellKnownTypeURIPayload().",
        bad: [
            .swift(
                """
                func text(_ record: NFCNDEFPayload) -> String? {
                    String(data: record.payload.dropFirst(3), encoding: .utf8)
                }
                """
            ),
            .swift(
                """
                func show(_ record: NFCNDEFPayload) {
                    switch record.typeNameFormat {
                    case .nfcWellKnown: label = parse(record.payload)
                    case .media: label = nil
                    default: label = nil
                    }
                }
                func parse(_ bytes: Data) -> String? {
                    let rest = bytes.advanced(by: Int(bytes[0] & 0x3F) + 1)
                    return String(data: rest, encoding: .utf8)
                }
                """
            ),
            .swift(
                """
                extension String {
                    static func plain(_ data: Data) -> String? { String(data: data, encoding: .utf8) }
                }
                extension NFCNDEFPayload {
                    var kind: String? { String.plain(type) }
                    var words: String? { String.plain(self.payload) }
                }
                """
            ),
            .swift(
                """
                extension Data {
                    func words(skipping count: Int) -> String { String(decoding: self[count...], as: UTF8.self) }
                }
                func text(_ record: NFCNDEFPayload) -> String { record.payload.words(skipping: 3) }
                """
            ),
            .swift(
                """
                struct Records {
                    static func parseText(_ payload: Data) -> String? {
                        let length = Int(payload[0] & 0x3F)
                        return String(data: payload.dropFirst(length + 1), encoding: .utf8)
                    }
                }
                """
            ),
            .objective(
                """
                - (NSString *)words:(NFCNDEFPayload *)record {
                    return [[NSString alloc] initWithData:record.payload encoding:NSUTF8StringEncoding];
                }
                """
            ),
        ],
        good: [
            Example.swift("func kind(_ record: NFCNDEFPayload) -> Data { record.type }")
                + Example.file(
                    "Letters.swift",
                    """
                    struct NFCLetters {
                        func text(_ letter: Letter) -> String { String(decoding: letter.payload, as: UTF8.self) }
                    }
                    """
                ),
            .swift(
                """
                func kind(_ message: NFCNDEFMessage) -> String? {
                    guard let record = message.records.first(where: { !$0.payload.isEmpty }) else { return nil }
                    return String(data: record.type, encoding: .utf8)
                }
                """
            ),
            .swift(
                """
                struct Letter { var payload = Data() }
                struct Page {
                    let letter: Letter
                    func text() -> String? { String(data: letter.payload, encoding: .utf8) }
                }
                """
            ),
            .swift("func text(_ record: NFCNDEFPayload) -> String? { record.wellKnownTypeTextPayload().0 }"),
            .swift(
                """
                func text(_ record: NFCNDEFPayload) -> String? {
                    switch record.typeNameFormat {
                    case .nfcWellKnown: return record.wellKnownTypeURIPayload()?.absoluteString
                    case .media: return String(data: record.payload, encoding: .utf8)
                    default: return nil
                    }
                }
                """
            ),
            .swift(
                """
                func status(_ response: NFCISO7816ResponseAPDU) -> String? { String(data: response.payload ?? Data(), encoding: .ascii) }
                """
            ),
            .objective(
                """
                - (NSString *)kind:(NFCNDEFPayload *)payload {
                    return [[NSString alloc] initWithData:payload.type encoding:NSUTF8StringEncoding];
                }
                """
            ),
            .objective(
                """
                - (NSString *)words:(NFCNDEFPayload *)record {
                    switch (record.typeNameFormat) {
                        case NFCTypeNameFormatMedia:
                            return [[NSString alloc] initWithData:record.payload encoding:NSUTF8StringEncoding];
                        default: return nil;
                    }
                }
                """
            ),
        ],
        check: { unit, findings in
            for file in unit.objective {
                for statement in file.decodedPayloads {
                    let isCut = statement.code.contains("subdataWithRange:")
                    let cut = "Bytes are cut off a payload by hand to get its text."
                    let whole = "A payload is decoded as text together with its leading bytes."
                    findings.add(statement.place, isCut ? cut : whole)
                }
            }
            let trace = PayloadTrace(unit)
            let decoders = decoders(unit)
            for (number, function) in unit.index.functions.enumerated() where unit.isOwn(function) {
                guard !function.names.contains("wellKnownTypeTextPayload") else { continue }
                for call in function.calls {
                    guard let source = decoded(call, number, trace, decoders, unit) else { continue }
                    // In code for links or other record types, report only records that are checked to be well-known.
                    let isWellKnown = PayloadTrace.isWellKnownRecord(call.node)
                    let isAsked = function.names.contains("wellKnownTypeURIPayload")
                    let hasOthers = !function.names.isDisjoint(with: ["media", "nfcExternal"])
                    guard isWellKnown ?? !(isAsked || hasOthers) else { continue }
                    let text =
                        source == .cut
                        ? "Bytes are cut off a payload by hand to get its text."
                        : "A payload is decoded as text together with its leading bytes."
                    findings.add(unit.place(call.node, number), text)
                }
            }
        }
    )

    /// The functions that convert a parameter to text, by name. The inner key is the function, the value the label.
    private static func decoders(_ unit: Unit) -> [String: [Int: String]] {
        var result: [String: [Int: String]] = [:]
        for (number, function) in unit.index.functions.enumerated() where !function.parameters.isEmpty {
            for call in function.calls {
                guard let name = bytes(of: call)?.words, let position = function.parameters.firstIndex(of: name) else {
                    continue
                }
                result[function.name, default: [:]][number] = function.labels[position]
            }
        }
        return result
    }

    /// The part of a payload that a call converts to text, directly or in a function that also receives other bytes.
    private static func decoded(
        _ call: CallInfo,
        _ number: Int,
        _ trace: PayloadTrace,
        _ decoders: [String: [Int: String]],
        _ unit: Unit
    ) -> PayloadTrace.Source? {
        if let bytes = bytes(of: call) { return trace.source(bytes, in: number) }
        let function = unit.index.functions[number]
        if let base = call.node.calledExpression.memberBase, function.names.contains("payload"),
            let source = trace.source(base, in: number), convertsData(call, function, unit)
        {
            return source
        }
        guard let helpers = decoders[call.name], function.names.contains("payload") else { return nil }
        for target in unit.index.targets(of: call, in: function) {
            guard let label = helpers[target] else { continue }
            let argument = call.node.arguments.first { ($0.label?.text ?? "_") == label }
            guard let argument, let source = trace.source(argument.expression, in: number) else { continue }
            // A function that receives only payloads is reported itself.
            let helper = unit.index.functions[target]
            let own = helper.calls.lazy.compactMap(bytes).first { helper.parameters.contains($0.words) }
            if let own, trace.source(own, in: target) == nil { return source }
        }
        return nil
    }

    /// Whether a call refers to a function of a Data extension that converts the data to text.
    private static func convertsData(_ call: CallInfo, _ function: FunctionInfo, _ unit: Unit) -> Bool {
        unit.index.functions(named: call.name).contains { number in
            let helper = unit.index.functions[number]
            return helper.owner == "Data" && helper.labels.count >= call.labels.count
                && helper.calls.contains { bytes(of: $0) != nil }
        }
    }

    /// The bytes that a call converts to text.
    private static func bytes(of call: CallInfo) -> ExprSyntax? {
        let isText = ["String", "NSString"].contains(call.name) && call.base == nil
        guard isText || call.name == "init" && call.base == "String", let first = call.node.arguments.first,
            ["data", "bytes", "decoding"].contains(first.label?.text)
        else { return nil }
        return first.expression
    }
}
