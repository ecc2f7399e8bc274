// SPDX-License-Identifier: Apache-2.0

/// Recognizes verbs in short English sentences, to distinguish sentences from titles.
enum Verbs {
    private static let known: Set<String> = [
        "is", "are", "was", "were", "be", "been", "am", "has", "have", "had", "do", "does", "did", "can", "could",
        "will",
        "would", "should", "must", "may", "hold", "bring", "move", "keep", "place", "put", "scan", "read", "write",
        "try",
        "wait", "use", "turn", "tap", "touch", "press", "open", "close", "check", "see", "go", "get", "make", "take",
        "find", "found", "present", "select", "choose", "connect", "remove", "lift", "leave", "stay", "start", "stop",
        "show", "let", "please", "isn't", "wasn't", "can't", "cannot", "couldn't", "won't", "don't", "didn't",
        "doesn't",
        "unlock", "lock", "pay", "sign", "approach", "position", "align", "complete", "fail", "fails", "set", "sent",
        "written", "went", "done", "lost", "retry", "restart", "reset", "verify", "confirm", "contact", "update",
        "erase",
        "clear", "delete", "save", "send", "load", "activate", "register", "link", "pair", "collect", "claim", "search",
        "look", "ensure", "put", "point", "swipe", "detach", "insert", "give", "enter", "exceeds", "requires",
        "supports",
        "contains", "matches", "needs", "wants", "thank", "thanks", "enjoy", "welcome", "gone", "want",
    ]

    private static let common: Set<String> = [
        "tag", "tags", "card", "error", "status", "unknown", "message", "data", "invalid", "connection", "no", "not",
        "the",
        "a", "an", "your", "valid", "success", "successful", "successfully", "failure", "unsupported", "device", "with",
        "in",
        "of", "type", "only", "yet", "code", "wrong", "chip", "reader", "badge", "missing", "available", "more", "than",
        "one",
    ]

    /// Whether the words are probably English, because they contain common English words.
    static func isEnglish(_ words: [String]) -> Bool {
        words.allSatisfy { $0.allSatisfy(\.isASCII) } && words.contains { common.contains($0.lowercased()) }
    }

    /// Whether any of the words is probably a verb, judged by its form.
    static func has(_ words: [String]) -> Bool {
        words.contains { word in
            let word = word.lowercased()
            return known.contains(word) || word.hasSuffix("ed") || word.hasSuffix("ing") || word.hasSuffix("n't")
                || word.hasSuffix("n’t") || word.hasSuffix("ize") || word.hasSuffix("'s") || word.hasSuffix("’s")
        }
    }
}
