// SPDX-License-Identifier: Apache-2.0
import FleetModel
import TagProtocols

/// Jobs that restrict writing to a tag.
extension TagWork {
    func lock(_ tag: any ForumTag, _ state: inout JobOutcome.TagState) async throws(Failure) {
        let detection = try await asking { () throws(TagError) in try await tag.detectNDEF() }
        if order.isResumed, detection.access == .readOnly {
            state = .locked
            return
        }
        try await asking { () throws(TagError) in try await tag.checkLocking() }
        try await lock(tag, &state, orElse: .unchanged)
    }

    /// Makes a tag read-only.
    ///
    /// - Parameter refused: the tag state to report if the tag refuses locking.
    func lock(
        _ tag: any ForumTag,
        _ state: inout JobOutcome.TagState,
        orElse refused: JobOutcome.TagState
    ) async throws(Failure) {
        do throws(TagError) {
            state = .uncertain
            try await tag.lock()
            state = .locked
        } catch {
            if error.code == .readOnly || error.code == .keyNeeded { state = refused }
            throw Failure(error)
        }
    }

    func protect(
        _ secret: TagSecret,
        _ tag: any ForumTag,
        _ state: inout JobOutcome.TagState
    ) async throws(Failure) {
        guard let tag = tag as? Type2Tag else {
            throw Failure(TagError(.unsupported, "Passwords work only on NTAG21x and MIFARE Ultralight EV1."))
        }
        let password = try password(secret)
        do throws(TagError) {
            state = .uncertain
            try await tag.protect(with: password)
            state = .protected
        } catch {
            switch error.code {
            case .unsupported, .authenticationFailed, .readOnly, .refused: state = .unchanged
            default: break
            }
            throw Failure(error)
        }
    }

    private func password(_ secret: TagSecret) throws(Failure) -> Type2Tag.Password {
        var secret = secret
        if case .named(let name) = secret {
            do throws(JobRefusal) {
                secret = try self.secret(name)
            } catch {
                throw Failure(error)
            }
        }
        guard case .bytes(let bytes, let acknowledgement) = secret,
            let password = Type2Tag.Password(bytes, acknowledgement: acknowledgement)
        else {
            throw Failure(
                JobRefusal(.noSecret, "The secret is not a 4-byte password with a 2-byte acknowledgement.")
            )
        }
        return password
    }

    func asking<Value>(_ body: () async throws(TagError) -> Value) async throws(Failure) -> Value {
        do throws(TagError) {
            return try await body()
        } catch {
            throw Failure(error)
        }
    }
}
