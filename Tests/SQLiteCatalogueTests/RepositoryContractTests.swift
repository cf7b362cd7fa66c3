import CatalogueContract
import Testing

@Suite struct RepositoryContractTests {
    @Test(arguments: CatalogueContract.repositories)
    func isKept(_ check: ContractCheck) async throws { try await expectKept(check) }
}
