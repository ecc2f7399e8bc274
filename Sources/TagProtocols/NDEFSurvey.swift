// SPDX-License-Identifier: Apache-2.0

/// What a tag holds for NDEF, or why it holds none.
public struct NDEFSurvey: Sendable, Hashable {
    /// What the detection procedure found; nil when it found no NDEF.
    public var detection: NDEFDetection?
    /// The message's octets, none when the tag is empty; nil when there is no message to be had.
    public var message: [UInt8]?
    /// The rule that keeps the tag from holding NDEF; nil when it holds some, or could.
    public var error: TagError?

    /// Creates a survey.
    public init(detection: NDEFDetection? = nil, message: [UInt8]? = nil, error: TagError? = nil) {
        self.detection = detection
        self.message = message
        self.error = error
    }
}

extension ForumTag {
    /// Reads the tag's status, then its message. A tag that is in order and holds no NDEF is a finding and not an error.
    ///
    /// - Returns: what was found.
    /// - Throws: ``TagError`` as ``detectNDEF()`` does, but for those whose ``TagError/meansNotNDEF`` is true.
    public func surveyNDEF() async throws(TagError) -> NDEFSurvey {
        var survey = NDEFSurvey()
        do throws(TagError) {
            survey.detection = try await detectNDEF()
            survey.message = try await readNDEF()
        } catch {
            guard error.meansNotNDEF else { throw error }
            survey.error = error
        }
        return survey
    }
}

extension TagError {
    /// Whether the tag is there and in order, but holds no NDEF.
    public var meansNotNDEF: Bool {
        switch code {
        case .noCapabilityContainer, .badVersion, .noMessageTLV, .lengthOverrun, .badChecksum, .writeInProgress: true
        default: false
        }
    }
}
