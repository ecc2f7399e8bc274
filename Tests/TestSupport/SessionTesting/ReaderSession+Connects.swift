// SPDX-License-Identifier: Apache-2.0
package import NFCSessions
import TagLink

extension ReaderSession {
    /// Connects to a tag.
    ///
    /// - Returns: why it can't; nil when it is connected.
    package func connects(to tag: ConnectableTag) async -> CommandError? {
        let result: Result<Void, CommandError> = await withCompletion { connect(to: tag, completion: $0) }
        guard case .failure(let error) = result else { return nil }
        return error
    }
}
