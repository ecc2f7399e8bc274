// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing

extension TagError {
    /// Whether the tag broke a rule, rather than left, or could not do what was asked of it.
    var isRuleBroken: Bool {
        switch code {
        case .badAnswer, .noCapabilityContainer, .badVersion, .noMessageTLV, .lengthOverrun, .badChecksum, .refused,
            .readProtected, .updateFailed:
            true
        default: false
        }
    }

    /// Whether the text ends with the rule, in parentheses, of a specification that exists.
    var namesRule: Bool {
        guard reason.hasSuffix(")."), let start = reason.lastIndex(of: "(") else { return false }
        let rule = reason[start...]
        return ["NFC Forum ", "ISO/IEC ", "JIS X ", "User's Manual", "data sheet"].contains { rule.contains($0) }
    }
}

/// Runs a procedure that may fail, and checks that its error names the rule that the tag broke.
@discardableResult
func checked<Value>(
    _ sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws(TagError) -> Value
) async -> Value? {
    do throws(TagError) {
        return try await body()
    } catch {
        #expect(!error.isRuleBroken || error.namesRule, "\(error)", sourceLocation: sourceLocation)
        return nil
    }
}

/// Returns the code of the error with which a procedure fails; nil when it does not fail.
func errorCode(_ body: () async throws(TagError) -> Void) async -> TagError.Code? {
    do throws(TagError) {
        try await body()
        return nil
    } catch {
        return error.code
    }
}
