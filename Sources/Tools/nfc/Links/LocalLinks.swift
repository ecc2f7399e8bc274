// SPDX-License-Identifier: Apache-2.0
import UniversalLinks

/// Code that the commands about local association files share.
enum LocalLinks {
    /// The domain in ASCII.
    static func name(_ domain: String) throws(CommandFailure) -> String {
        do throws(HostName.DomainProblem) {
            return try HostName.domain(domain)
        } catch {
            throw CommandFailure(.refused, "bad-domain", "'\(domain)' \(error.description)")
        }
    }
}
