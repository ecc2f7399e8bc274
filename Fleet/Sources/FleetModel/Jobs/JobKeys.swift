// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The public keys whose signed jobs a node accepts.
package struct JobKeys: Sendable {
    /// A prefix for the signed bytes, so that a signature is valid only for jobs.
    static let context = Array("opencorenfc-job-v1\n".utf8)

    private let keys: [String: VerifyingKey]

    /// - Parameter keys: the keys by name. If empty, jobs need no signature.
    package init(_ keys: [String: VerifyingKey] = [:]) {
        self.keys = keys
    }

    /// Whether a job has to be signed.
    package var areNeeded: Bool { !keys.isEmpty }

    /// Verifies and parses a job message.
    ///
    /// - Parameters:
    ///   - payload: the bytes of the message.
    ///   - node: this node's name.
    ///   - now: the time, in milliseconds since 1970.
    /// - Returns: the job. Its deadline may have passed already.
    /// - Throws: ``JobRefusal`` with `badJob`, `unsigned`, `unknownKey`, `badSignature`, `wrongNode`. It includes the
    ///   ID and kind that the message claims, even if its signature is invalid.
    package func open(_ payload: [UInt8], node: FleetName, now: Int64) throws(JobRefusal) -> Job {
        let message = try Self.parse(payload)
        let signed = try Self.signedBytes(message)
        let claim: JSONValue? = if let signed { try? Self.parse(signed) } else { message }
        do throws(JobRefusal) {
            try check(message, signed: signed)
            let value = if let claim { claim } else { try Self.parse(signed ?? payload) }
            let job = try Job(value)
            try Self.check(job, node: node, now: now)
            return job
        } catch {
            throw error.naming(claim)
        }
    }

    private static func check(_ job: Job, node: FleetName, now: Int64) throws(JobRefusal) {
        guard job.node == node else {
            throw JobRefusal(.wrongNode, "The job is for the node \(job.node), but this is \(node).")
        }
        guard job.deadline <= now + Job.longestWait else {
            throw JobRefusal(.badJob, "The deadline is more than 7 days from now.")
        }
        // Jobs already in the journal are not checked again.
        if case .write(let template, _) = job.work { try template.check() }
    }

    /// Adds the ID and kind that a payload claims to a refusal, if they can be read.
    package static func naming(_ refusal: JobRefusal, _ payload: [UInt8]) -> JobRefusal {
        guard let message = try? parse(payload) else { return refusal }
        guard let signed = try? signedBytes(message) else { return refusal.naming(message) }
        return refusal.naming(try? parse(signed))
    }

    /// Returns the signed bytes; nil if the job has no signature.
    private static func signedBytes(_ message: JSONValue) throws(JobRefusal) -> [UInt8]? {
        guard let signed = message["signed"]?.text else { return nil }
        guard let bytes = Base64URL.bytes(signed) else {
            throw JobRefusal(.badJob, "The member signed must be in base64url.")
        }
        return bytes
    }

    /// Checks the signature. If no keys are configured, any job is accepted.
    private func check(_ message: JSONValue, signed: [UInt8]?) throws(JobRefusal) {
        guard areNeeded else { return }
        guard let signed else { throw JobRefusal(.unsigned, "This node accepts only signed jobs.") }
        guard let key = message["key"]?.text.flatMap({ keys[$0] }) else {
            throw JobRefusal(.unknownKey, "This node does not have the key of the job.")
        }
        guard let signature = message["signature"]?.text.flatMap(Base64URL.bytes),
            key.verifies(signature, of: Self.context + signed)
        else { throw JobRefusal(.badSignature, "The signature does not match the job.") }
    }

    private static func parse(_ bytes: [UInt8]) throws(JobRefusal) -> JSONValue {
        do throws(JSONFailure) {
            return try JSONValue(parsing: bytes)
        } catch {
            throw JobRefusal(.badJob, error.reason)
        }
    }
}

/// Signs jobs.
package struct JobSigner: Sendable {
    /// The key's name at the nodes.
    package let name: String
    private let key: SigningKey

    package init(name: String, key: SigningKey) {
        self.name = name
        self.key = key
    }

    /// Returns the signed message to send for a job.
    package func sign(_ job: Job) -> JSONValue {
        let bytes = job.json.bytes
        return [
            "signed": .string(Base64URL.text(bytes)), "key": .string(name),
            "signature": .string(Base64URL.text(key.signature(of: JobKeys.context + bytes))),
        ]
    }
}

/// Base64 with the URL-safe alphabet and without padding (RFC 4648, 5).
package enum Base64URL {
    package static func text(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    package static func bytes(_ text: String) -> [UInt8]? {
        guard !text.contains(where: { "+/=".contains($0) }) else { return nil }
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
        return Data(base64Encoded: plain + padding).map { Array($0) }
    }
}
