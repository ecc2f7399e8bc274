// SPDX-License-Identifier: Apache-2.0
import TagProtocols

extension CommandFailure {
    init(_ error: TagError) {
        let status: Status =
            switch error.code {
            case .readerUnavailable: .noReader
            case .cancelled: .cancelled
            default: .refused
            }
        self.init(status, error.code.description, error.reason)
    }
}
