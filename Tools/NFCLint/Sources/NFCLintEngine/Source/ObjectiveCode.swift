// SPDX-License-Identifier: Apache-2.0

/// The methods of an Objective-C file, split into statements.
///
/// Does not parse the grammar: removes comments, and ends statements at braces and semicolons.
public struct ObjectiveCode: Sendable {
    /// A part of a method up to a semicolon or a brace.
    public struct Statement: Sendable {
        /// The statement's location.
        public var place: Place
        /// The statement's text.
        public var text: String
        /// The statement's text, with empty string literals.
        public var code: String
        /// The number of the method's braces that are open around the statement.
        public var depth: Int
        /// Whether a brace opens after the statement.
        public var opensBlock: Bool
    }

    /// A method or function.
    public struct Method: Sendable {
        /// The selector, such as `readerSession:didDetectTags:`, or the name of a function.
        public var selector: String
        /// The names of the parameters.
        public var parameters: [String]
        /// The location of the declaration.
        public var place: Place
        /// The statements of the body.
        public var statements: [Statement]
        /// The methods that are called on `self`, by the first part of the selector.
        public internal(set) var ownCalls: Set<String> = []

        /// The first part of the selector.
        public var name: String { selector.prefix { $0 != ":" }.description }
        /// Whether any statement contains one of these words.
        public func mentions(_ words: String...) -> Bool {
            statements.contains { statement in words.contains { statement.code.contains($0) } }
        }
    }

    /// The methods, in order.
    public private(set) var methods: [Method] = []

    init(_ path: String, _ bytes: [UInt8]) {
        let (plain, masked) = Self.withoutComments(bytes)
        var cutter = Cutter(path: path, plain: plain, masked: masked, lines: LineStarts(bytes))
        cutter.run()
        methods = cutter.methods
    }

    /// A method and the methods of the file that it calls on `self`, directly or indirectly.
    public func reach(_ method: Method, depth: Int = 3) -> [Method] {
        var seen: Set<String> = [method.selector]
        var result = [method]
        var level = [method]
        for _ in 0..<depth where !level.isEmpty {
            let called = level.flatMap(\.ownCalls)
            level = methods.filter { called.contains($0.name) && seen.insert($0.selector).inserted }
            result += level
        }
        return result
    }

    /// The methods of the file that call a method on `self`, directly or indirectly.
    public func callers(of method: Method) -> [Method] {
        var seen: Set<String> = [method.selector]
        var result: [Method] = []
        var open = [method]
        while let next = open.popLast() {
            for caller in methods where caller.ownCalls.contains(next.name) && seen.insert(caller.selector).inserted {
                result.append(caller)
                open.append(caller)
            }
        }
        return result
    }

    /// Blanks comments and preprocessor lines. `masked` also has blank literals.
    private static func withoutComments(_ bytes: [UInt8]) -> (plain: [UInt8], masked: [UInt8]) {
        var plain = bytes
        var masked = bytes
        var index = 0
        var isLineStart = true
        var conditions = Conditions()
        func blank(_ position: Int) {
            guard bytes[position] != 0x0A else { return }
            plain[position] = 0x20
            masked[position] = 0x20
        }
        while index < bytes.count {
            let byte = bytes[index]
            let next = index + 1 < bytes.count ? bytes[index + 1] : 0
            if byte == 0x2F, next == 0x2F || next == 0x2A {
                let isLine = next == 0x2F
                while index < bytes.count {
                    if isLine
                        ? bytes[index] == 0x0A : bytes[index] == 0x2A && bytes[min(index + 1, bytes.count - 1)] == 0x2F
                    {
                        break
                    }
                    blank(index)
                    index += 1
                }
                for _ in 0..<(isLine ? 0 : 2) where index < bytes.count {
                    blank(index)
                    index += 1
                }
            } else if byte == 0x23, isLineStart {
                let word = bytes[index...].prefix(20).drop { $0 == 0x23 || $0 == 0x20 || $0 == 0x09 }
                if let range = conditions.note(word, at: index, masked) { range.forEach(blank) }
                while index < bytes.count, bytes[index] != 0x0A {
                    blank(index)
                    index += 1
                }
            } else if byte == 0x22 || byte == 0x27 {
                index += 1
                while index < bytes.count, bytes[index] != byte, bytes[index] != 0x0A {
                    masked[index] = 0x20
                    if bytes[index] == 0x5C, index + 1 < bytes.count {
                        index += 1
                        if bytes[index] != 0x0A { masked[index] = 0x20 }
                    }
                    index += 1
                }
                index += 1
            } else {
                if byte == 0x0A { isLineStart = true } else if byte != 0x20, byte != 0x09 { isLineStart = false }
                index += 1
            }
        }
        return (plain, masked)
    }
}

extension ObjectiveCode.Statement {
    /// The first parts of the selectors that the statement calls on `self`.
    fileprivate var ownCalls: [String] {
        ["[self ", "[weakSelf ", "[strongSelf "].flatMap { receiver in
            code.ranges(of: receiver).map { range in
                String(code[range.upperBound...].prefix { $0.isLetter || $0.isNumber || $0 == "_" })
            }
        }
    }
}

/// Follows the branches of `#if`, so that a brace that each of them opens counts once.
private struct Conditions {
    private static let deepest = 40

    /// For each open `#if`: where the current branch begins, the open braces there, and whether an earlier branch has
    /// an unbalanced brace.
    private var open: [(start: Int, braces: Int, isUnbalanced: Bool)] = []
    private var braces = 0
    private var counted = 0

    /// - Parameters:
    ///   - word: the preprocessor line, without the sign at its start.
    ///   - offset: where the line begins.
    ///   - masked: the code, without comments and literals up to the line.
    /// - Returns: the branch that ends here, if it repeats the braces of an earlier branch and has to be blanked.
    mutating func note(_ word: ArraySlice<UInt8>, at offset: Int, _ masked: [UInt8]) -> Range<Int>? {
        let isNext = word.starts(with: "el".utf8)
        for byte in masked[counted..<offset] { braces += byte == 0x7B ? 1 : byte == 0x7D ? -1 : 0 }
        counted = offset
        if word.starts(with: "if".utf8) { open.append((offset, braces, false)) }
        guard isNext || word.starts(with: "endif".utf8), let last = open.popLast() else { return nil }
        let isUnbalanced = braces != last.braces
        let repeats = last.isUnbalanced && isUnbalanced && open.count < Self.deepest
        if repeats { braces = last.braces }
        if isNext { open.append((offset, braces, last.isUnbalanced || isUnbalanced)) }
        return repeats ? last.start..<offset : nil
    }
}

/// Walks through the text once, and splits it into methods and statements.
private struct Cutter {
    let path: String
    let plain: [UInt8]
    let masked: [UInt8]
    let lines: LineStarts
    var methods: [ObjectiveCode.Method] = []
    private var depth = 0
    private var start = 0
    private var current: ObjectiveCode.Method?

    init(path: String, plain: [UInt8], masked: [UInt8], lines: LineStarts) {
        self.path = path
        self.plain = plain
        self.masked = masked
        self.lines = lines
    }

    mutating func run() {
        for index in masked.indices {
            switch masked[index] {
            case 0x7B:
                if depth == 0 { current = method(start..<index) } else { cut(to: index, opensBlock: true) }
                depth += 1
                start = index + 1
            case 0x7D:
                cut(to: index, opensBlock: false)
                depth = max(0, depth - 1)
                start = index + 1
                if depth == 0, var done = current {
                    done.ownCalls = Set(done.statements.flatMap(\.ownCalls))
                    methods.append(done)
                    current = nil
                }
            case 0x3B:
                cut(to: index, opensBlock: false)
                start = index + 1
            default: continue
            }
        }
    }

    private mutating func cut(to end: Int, opensBlock: Bool) {
        var first = start
        while first < end, masked[first] <= 0x20 { first += 1 }
        guard current != nil, first < end else { return }
        let statement = ObjectiveCode.Statement(
            place: place(first),
            text: String(decoding: plain[first..<end], as: UTF8.self),
            code: String(decoding: masked[first..<end], as: UTF8.self),
            depth: depth,
            opensBlock: opensBlock
        )
        current?.statements.append(statement)
    }

    private func place(_ offset: Int) -> Place { Place(path, lines.position(of: offset)) }

    /// The method declared in a range, which contains names and types but no braces.
    private func method(_ range: Range<Int>) -> ObjectiveCode.Method? {
        var first = range.lowerBound
        // The range may begin with text without a semicolon, such as @implementation or RCT_EXPORT_MODULE().
        for index in range {
            let isLineStart = index == range.lowerBound || masked[index - 1] == 0x0A
            let isMethod =
                masked[index] == 0x2D || masked[index] == 0x2B
                || ["RCT_EX", "RCT_REMAP_"].contains { masked[index...].starts(with: $0.utf8) }
            if isLineStart, isMethod, !masked[index...].starts(with: "RCT_EXPORT_MODULE".utf8) { first = index }
        }
        while first < range.upperBound, masked[first] <= 0x20 { first += 1 }
        let text = String(decoding: masked[first..<range.upperBound], as: UTF8.self)
        guard !text.hasPrefix("@"), !text.isEmpty else { return nil }
        // React Native macros declare a method in parentheses: RCT_EXPORT_METHOD(start:(Callback)callback).
        let isMacro = text.hasPrefix("RCT_")
        let signature = isMacro ? String(text.drop { $0 != "(" }.dropFirst().dropLast(while: { $0 == ")" })) : text
        var parts: [String] = []
        var parameters: [String] = []
        let words = Self.withoutParentheses(signature).split { $0 == " " || $0 == "\n" || $0 == "\t" }.joined(
            separator: " "
        )
        for piece in words.split(separator: ":", omittingEmptySubsequences: false).enumerated() {
            let names = piece.element.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
            if piece.offset > 0, let name = names.first { parameters.append(name) }
            if let part = piece.offset == 0 ? names.last : names.dropFirst().first { parts.append(part) }
        }
        let colons = words.count { $0 == ":" }
        let plainName = words.split { !($0.isLetter || $0.isNumber || $0 == "_") }.first.map(String.init) ?? ""
        let selector = colons == 0 ? plainName : parts.prefix(colons).map { $0 + ":" }.joined()
        return ObjectiveCode.Method(selector: selector, parameters: parameters, place: place(first), statements: [])
    }

    private static func withoutParentheses(_ text: String) -> String {
        var depth = 0
        var result = ""
        for character in text {
            if character == "(" { depth += 1 }
            if depth == 0 { result.append(character) }
            if character == ")" {
                depth = max(0, depth - 1)
                if depth == 0 { result.append(" ") }
            }
        }
        return result
    }
}

extension StringProtocol {
    /// The text without the trailing characters that meet a condition.
    fileprivate func dropLast(while isDropped: (Character) -> Bool) -> String {
        String(reversed().drop(while: isDropped).reversed())
    }
}
